using System;
using System.Runtime.InteropServices;

/// <summary>
/// The processor time of this process and all its threads, by getrusage(2): that of the class
/// Process has a resolution of ten milliseconds.
/// </summary>
internal readonly struct ProcessorTime
{
    private const int Self = 0;
    /// <summary>More numbers than a `struct rusage` has.</summary>
    private const int UsageNumbers = 64;
    private const long NanosPerSecond = 1_000_000_000;
    private const long NanosPerMicro = 1000;

    private ProcessorTime(long userNanos, long systemNanos)
    {
        UserNanos = userNanos;
        SystemNanos = systemNanos;
    }

    internal long UserNanos { get; }

    internal long SystemNanos { get; }

    internal static unsafe ProcessorTime Now()
    {
        IntPtr* usage = stackalloc IntPtr[UsageNumbers];
        if (GetUsage(Self, usage) != 0)
        {
            throw new InvalidOperationException("getrusage fails");
        }
        return new ProcessorTime(Nanos(usage), Nanos(usage + 2));
    }

    internal ProcessorTime Since(ProcessorTime before) =>
        new ProcessorTime(UserNanos - before.UserNanos, SystemNanos - before.SystemNanos);

    /// <summary>Of a `timeval`: seconds, then microseconds.</summary>
    private static unsafe long Nanos(IntPtr* time) => (long)time[0] * NanosPerSecond + (long)time[1] * NanosPerMicro;

    [DllImport("libc", EntryPoint = "getrusage")]
    private static extern unsafe int GetUsage(int who, IntPtr* usage);
}
