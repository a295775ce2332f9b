const detail = document.getElementById('detail');
const all = selector => document.querySelectorAll(selector);
const choose = chosen => {
  for (const one of all('[data-detail]')) one.classList.toggle('chosen', one === chosen || (chosen.dataset.step !== undefined && one.dataset.step === chosen.dataset.step && one.dataset.plan === chosen.dataset.plan));
  detail.textContent = chosen.dataset.detail;
};
document.addEventListener('click', event => {
  const chosen = event.target.closest('[data-detail]');
  if (chosen) choose(chosen); else if (!event.target.closest('#detail, input, button')) detail.textContent = '';
});
for (const row of all('.steps tr[data-step]')) {
  const mark = on => row.closest('.steps').querySelectorAll(`path.s${row.dataset.step}`).forEach(path => path.classList.toggle('hot', on));
  row.addEventListener('mouseenter', () => mark(true));
  row.addEventListener('mouseleave', () => mark(false));
}
const search = document.querySelector('input[type=search]');
const look = () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(word => word);
  const fits = one => words.every(word => one.dataset.detail.toLowerCase().includes(word));
  for (const row of all('tr[data-detail]')) row.hidden = !fits(row);
  for (const slice of all('rect.slice')) slice.classList.toggle('other', !fits(slice));
  for (const arcs of all('.steps svg')) arcs.style.display = words.length ? 'none' : '';
  document.getElementById('found').textContent = words.length ? `${[...all('tr[data-detail]')].filter(row => !row.hidden).length} rows` : '';
};
search.addEventListener('input', look);
search.value = decodeURIComponent(location.hash.slice(1)); // page.html#softmax
look();
for (const button of all('button[data-zoom]')) {
  button.addEventListener('click', () => {
    const svg = document.querySelector('.timeline svg');
    const view = svg.closest('.scroll');
    const middle = (view.scrollLeft + view.clientWidth / 2) / svg.clientWidth;
    const width = Math.max(100, Math.min(12800, parseFloat(svg.style.width) * (button.dataset.zoom === 'in' ? 2 : 0.5)));
    svg.style.width = `${width}%`;
    view.scrollLeft = middle * svg.clientWidth - view.clientWidth / 2;
  });
}
