import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Counts what a client of the SDK does for the reading that goes on: {@code beforeExecution} is called for each call of
 * the program, {@code beforeTransmission} for each request that is sent, repeated ones included.
 */
final class Observer implements ExecutionInterceptor {
    private volatile Window window;

    /** From now on, requests are those of this reading. */
    void observe(Window next) {
        window = next;
    }

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
        window.called();
    }

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        window.attempted();
    }
}
