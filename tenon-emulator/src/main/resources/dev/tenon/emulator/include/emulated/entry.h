// TENON_ENTRY(name): deduces a kernel's parameters and registers it with the runtime when its object is loaded.
#pragma once

namespace tenon {
template <int... I>
struct Indices {};

#if defined(__clang__)
template <typename T, T... I>
using IndicesOf = Indices<I...>;
template <int N>
using FirstIndices = __make_integer_seq<IndicesOf, int, N>;
#else
template <int N>
using FirstIndices = Indices<__integer_pack(N)...>;
#endif

template <typename... P>
struct Parameters {
    static constexpr unsigned int sizes[sizeof...(P) + 1] = {sizeof(P)..., 0};

    // The arguments lie in the host's memory: not the kernel's access, so not checked.
    template <void (*kernel)(P...), int... I>
    TENON_QUIET static void spread([[maybe_unused]] void* const* arguments, Indices<I...>) {
        kernel(*static_cast<P*>(arguments[I])...);
    }

    template <void (*kernel)(P...)>
    TENON_QUIET static void call(void* const* arguments) {
        spread<kernel>(arguments, FirstIndices<sizeof...(P)>());
    }
};

template <typename... P>
Parameters<P...> parameters_of(void (*)(P...));

struct Registration {
    TenonEntry entry;

    template <typename List>
    TENON_QUIET Registration(const char* name, void (*call)(void* const*), List)
        : entry{name, call, List::sizes, sizeof(List::sizes) / sizeof(unsigned int) - 1, TENON_CHECKED} {
        tenon_register(&entry);
    }
};
}  // namespace tenon

#define TENON_ENTRY(name)                                                                        \
    static ::tenon::Registration TENON_PASTE(tenon_entry_, TENON_NAME(name))(                    \
        TENON_TEXT(TENON_NAME(name)),                                                            \
        &decltype(::tenon::parameters_of(&TENON_NAME(name)))::template call<&TENON_NAME(name)>, \
        decltype(::tenon::parameters_of(&TENON_NAME(name)))());
