using System;

/// <summary>The bytes of a file that are read: as many as there are before them, and their length,
/// as far as the file goes.</summary>
internal readonly struct Part
{
    /// <summary>The words that ask for a part.</summary>
    internal const string StartWord = "start_bytes";
    internal const string LengthWord = "length_bytes";

    /// <summary>All of a file.</summary>
    internal static readonly Part Whole = new Part(0, long.MaxValue);

    private Part(long start, long length)
    {
        Start = start;
        Length = length;
    }

    internal long Start { get; }

    internal long Length { get; }

    /// <summary>The same with one bound set, by the name of its word.</summary>
    internal Part With(string name, long bytes) =>
        name == StartWord ? new Part(bytes, Length) : new Part(Start, bytes);

    /// <summary>Its length in a file of this size.</summary>
    internal long LengthIn(long size) => Math.Min(Length, Math.Max(size - Start, 0));
}
