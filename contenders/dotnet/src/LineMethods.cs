using System.IO;
using System.Text;

/// <summary>
/// The methods that make a string for every line. Text is decoded from UTF-8, or from what a byte
/// order mark says, and malformed input is replaced. For all of them a CR without LF ends a line
/// too, so the answer is only correct for files without one.
/// </summary>
internal static class LineMethods
{
    /// <summary>.NET has no buffer smaller than this one, and 1024 if none is given.</summary>
    private static readonly Param Buffer = new Param("buffer_bytes", 1024, 128, StreamMethods.BytesMax);

    internal static readonly Method[] All =
    {
        Method.OfLines("File.ReadLines", "File.ReadLines, by foreach", ReadLines),
        Method.OfLines("File.ReadAllLines", "File.ReadAllLines, and Length: all lines are held at once",
            request => File.ReadAllLines(request.Path).Length),
        Method.OfLines("StreamReader.ReadLine",
            "ReadLine of a StreamReader with a buffer of its own, over a FileStream's of 4096 bytes", ReadLine)
            .With(Buffer),
    };

    private static long ReadLines(Request request)
    {
        long lines = 0;
        foreach (string line in File.ReadLines(request.Path))
        {
            lines++;
        }
        return lines;
    }

    private static long ReadLine(Request request)
    {
        using var reader = new StreamReader(request.Path, Encoding.UTF8, true, request.Value(Buffer));
        long lines = 0;
        while (reader.ReadLine() != null)
        {
            lines++;
        }
        return lines;
    }
}
