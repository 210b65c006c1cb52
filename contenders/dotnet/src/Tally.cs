using System;

/// <summary>
/// The consumer of all methods that visit bytes: it counts the bytes and does the work. It does not
/// open files.
/// </summary>
internal sealed class Tally
{
    private const int ByteMask = 0xFF;

    private readonly Work work;
    private readonly Scan.Visit scan;
    private long found;

    internal Tally(Request request)
    {
        work = request.Work;
        scan = Scan.For(request.Work, request.Scan);
    }

    internal long Bytes { get; private set; }

    /// <summary>What the work counts.</summary>
    internal long Value => work switch
    {
        Work.Discard => Bytes,
        Work.Sum => found & ByteMask,
        _ => found,
    };

    internal Answer Answer => Answer.OfBytes(work, Bytes, Value);

    /// <summary>Visits bytes.</summary>
    internal void Take(ReadOnlySpan<byte> bytes)
    {
        Bytes += bytes.Length;
        found += scan(bytes);
    }

    /// <summary>Adds what another one counted.</summary>
    internal void Add(Tally other)
    {
        Bytes += other.Bytes;
        found += other.found;
    }
}
