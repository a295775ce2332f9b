package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ActivityTest {
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5); // the clock may wrap
    private final Activity activity = new Activity(now::get);

    private boolean idleAfter(long nanos) {
        now.addAndGet(nanos);
        return activity.idle();
    }

    @Test
    void workAndTheRestBehindItAreNotIdle() {
        assertThat(activity.idle()).isFalse();
        assertThat(idleAfter(Activity.REST_NANOS + 1)).isTrue();
        activity.begin();
        assertThat(idleAfter(Activity.REST_NANOS + 1)).isFalse();
        activity.end();
        assertThat(idleAfter(Activity.REST_NANOS)).isFalse();
        assertThat(idleAfter(1)).isTrue();
    }

    @Test
    void restBehindAPlanIsLongerThanBehindItsRun() {
        activity.begin();
        activity.endPlan();
        activity.begin();
        activity.end();
        assertThat(idleAfter(Activity.REST_AFTER_PLAN_NANOS)).isFalse();
        assertThat(idleAfter(1)).isTrue();
    }

    @Test
    void everyOneOfSeveralHasToEnd() {
        activity.begin();
        activity.begin();
        activity.end();
        assertThat(idleAfter(Activity.REST_NANOS + 1)).isFalse();
        activity.end();
        assertThat(idleAfter(Activity.REST_NANOS + 1)).isTrue();
    }
}
