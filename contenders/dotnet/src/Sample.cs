/// <summary>
/// One timed reading: its window, the processor time within it, and what was found. It is not
/// judged here; the lab compares the answer.
/// </summary>
internal sealed class Sample
{
    internal Sample(long wallNanos, ProcessorTime processorTime, Answer answer)
    {
        WallNanos = wallNanos;
        ProcessorTime = processorTime;
        Answer = answer;
    }

    internal long WallNanos { get; }

    internal ProcessorTime ProcessorTime { get; }

    internal Answer Answer { get; }
}
