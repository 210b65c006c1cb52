using System;
using System.Collections.Generic;

/// <summary>
/// The counts of the class GC since the runtime was started. They are read before the first and
/// after the last reading of a turn, so never inside a window.
/// </summary>
internal sealed class RuntimeCounts
{
    private const long NanosPerTick = 100;

    private readonly int collections = GC.CollectionCount(0);
    private readonly long pauseNanos = PauseNanos();
    private readonly long allocatedBytes = GC.GetTotalAllocatedBytes(true);

    /// <summary>The counts since this object was made.</summary>
    internal List<Count> End()
    {
        long allocated = GC.GetTotalAllocatedBytes(true) - allocatedBytes;
        return new List<Count>
        {
            new Count("allocated_bytes", allocated, "GC.GetTotalAllocatedBytes, of all threads"),
            new Count("gc_collections", GC.CollectionCount(0) - collections, "GC.CollectionCount of all generations"),
            new Count("gc_ns", PauseNanos() - pauseNanos, "GC.GetTotalPauseDuration"),
        };
    }

    private static long PauseNanos() => GC.GetTotalPauseDuration().Ticks * NanosPerTick;
}
