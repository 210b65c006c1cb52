using System;

/// <summary>
/// The ways of visiting bytes and characters: a plain loop over a span, and from newline to newline
/// by IndexOf, which .NET does in vector instructions.
/// </summary>
internal static class Scan
{
    private const string Loop = "loop";
    private const string IndexOf = "IndexOf";
    private const byte Newline = (byte)'\n';

    /// <summary>The scans for the work newlines, best first.</summary>
    internal static readonly string[] OfNewlines = { IndexOf, Loop };

    /// <summary>Those for the work sum.</summary>
    internal static readonly string[] OfSum = { Loop };

    /// <summary>What a scan finds: newlines, or a sum of which eight bits matter.</summary>
    internal delegate long Visit(ReadOnlySpan<byte> bytes);

    /// <summary>The scan for a work.</summary>
    internal static Visit For(Work work, string scan)
    {
        switch (work)
        {
            case Work.Newlines when scan == IndexOf:
                return bytes => CountByIndexOf(bytes, Newline);
            case Work.Newlines:
                return bytes => CountByLoop(bytes, Newline);
            case Work.Sum:
                return Sum;
            default:
                return bytes => 0;
        }
    }

    /// <summary>The newlines of a text, by one of the scans for newlines.</summary>
    internal static long Newlines(string text, string scan) =>
        scan == IndexOf ? CountByIndexOf(text.AsSpan(), '\n') : CountByLoop(text.AsSpan(), '\n');

    private static long CountByIndexOf<T>(ReadOnlySpan<T> items, T wanted) where T : struct, IEquatable<T>
    {
        long count = 0;
        for (int at = items.IndexOf(wanted); at >= 0; at = items.IndexOf(wanted))
        {
            count++;
            items = items.Slice(at + 1);
        }
        return count;
    }

    // An int as accumulator: a span is shorter than 2 GiB. Equals becomes a plain comparison.
    private static long CountByLoop<T>(ReadOnlySpan<T> items, T wanted) where T : struct, IEquatable<T>
    {
        int count = 0;
        for (int i = 0; i < items.Length; i++)
        {
            if (items[i].Equals(wanted))
            {
                count++;
            }
        }
        return count;
    }

    private static long Sum(ReadOnlySpan<byte> bytes)
    {
        uint sum = 0;
        for (int i = 0; i < bytes.Length; i++)
        {
            sum += bytes[i];
        }
        return sum;
    }
}
