using System;
using System.IO;

static class StreamReaderReadToEnd
{
    // Counts newlines of the whole file in one string.
    public static long Newlines(string path)
    {
        using var reader = new StreamReader(path);
        return Scan.Count(reader.ReadToEnd().AsSpan(), '\n');
    }
}
