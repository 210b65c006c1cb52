using System;
using System.IO;
using System.Threading.Tasks;

/// <summary>
/// The methods of a FileStream, and File.ReadAllBytes: they read into arrays on the heap. A
/// FileStream has a buffer of 4096 bytes, which a larger array bypasses.
/// </summary>
internal static class StreamMethods
{
    internal const int BytesMax = 1 << 30;
    private const int StreamBytes = 4096;
    private const int CopyBytes = 81920;

    private static readonly Param Buffer = new Param("buffer_bytes", StreamBytes, 1, BytesMax);
    private static readonly Param Sequential = new Param("sequential", 0, 0, 1);
    private static readonly Param Copied = new Param("buffer_bytes", CopyBytes, 1, BytesMax);

    internal static readonly Method[] All =
    {
        Method.OfBytes("FileStream.Read",
            "Read of a FileStream into one array; with sequential=1, one with FileOptions.SequentialScan", Read)
            .With(Buffer, Sequential).ReadingParts().ReadingLists(),
        Method.OfBytes("FileStream.ReadAsync", "await ReadAsync of a FileStream with useAsync into one array",
            (path, request, tally) => ReadAsync(path, request, tally).GetAwaiter().GetResult())
            .With(Buffer),
        Method.OfBytes("FileStream.CopyTo", "CopyTo of a FileStream into a Stream that visits the bytes", CopyTo)
            .With(Copied),
        Method.OfNewlines("FileStream.ReadByte", "ReadByte of a FileStream with a buffer, one call for each byte",
            new[] { Method.ByteByByte }, ReadByte)
            .With(Buffer),
        Method.OfBytes("File.ReadAllBytes", "File.ReadAllBytes: the whole file in one array, below 2 GiB",
            (path, request, tally) => tally.Take(File.ReadAllBytes(path)))
            .ReadingLists(),
    };

    /// <summary>Reads a stream through one array, to its end or until none are left.</summary>
    internal static void Drain(Stream stream, int bufferBytes, long left, Tally tally)
    {
        byte[] buffer = new byte[bufferBytes];
        int length;
        while (left > 0 && (length = stream.Read(buffer, 0, (int)Math.Min(left, buffer.Length))) > 0)
        {
            tally.Take(buffer.AsSpan(0, length));
            left -= length;
        }
    }

    /// <summary>Opens a file to be read from its beginning to its end.</summary>
    internal static FileStream Open(
        string path, FileOptions options = FileOptions.None, int bufferBytes = StreamBytes) =>
        new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read, bufferBytes, options);

    private static void Read(string path, Request request, Tally tally)
    {
        FileOptions options = request.Value(Sequential) == 1 ? FileOptions.SequentialScan : FileOptions.None;
        using FileStream file = Open(path, options);
        if (request.Part.Start > 0)
        {
            file.Seek(request.Part.Start, SeekOrigin.Begin);
        }
        Drain(file, request.Value(Buffer), request.Part.Length, tally);
    }

    private static async Task ReadAsync(string path, Request request, Tally tally)
    {
        using FileStream file = Open(path, FileOptions.Asynchronous);
        byte[] buffer = new byte[request.Value(Buffer)];
        int length;
        while ((length = await file.ReadAsync(buffer, 0, buffer.Length)) > 0)
        {
            tally.Take(buffer.AsSpan(0, length));
        }
    }

    private static void CopyTo(string path, Request request, Tally tally)
    {
        using FileStream file = Open(path);
        file.CopyTo(new TallyStream(tally), request.Value(Copied));
    }

    private static Answer ReadByte(Request request)
    {
        using FileStream file = Open(request.Path, FileOptions.None, request.Value(Buffer));
        long length = 0;
        long newlines = 0;
        int b;
        while ((b = file.ReadByte()) >= 0)
        {
            length++;
            if (b == '\n')
            {
                newlines++;
            }
        }
        return Answer.OfBytes(Work.Newlines, length, newlines);
    }
}
