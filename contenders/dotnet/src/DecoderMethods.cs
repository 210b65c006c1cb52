using System.IO;
using System.IO.Compression;

/// <summary>
/// The methods that decode a compressed file, as bytes: from a FileStream into one array. The
/// decoders of .NET take other bytes after the end for the end, and a cut too unless they validate
/// strictly; <see cref="DecoderEnd"/> notices both.
/// </summary>
internal static class DecoderMethods
{
    private static readonly Param Buffer = new Param("buffer_bytes", 65536, 1, StreamMethods.BytesMax);

    internal static readonly Method[] All =
    {
        Method.OfBytes("GZipStream", "Read of a GZipStream over a FileStream into one array", GZip)
            .With(Buffer).Decoding("gzip").Unless(() => DecoderEnd.LackOfGZip),
        Method.OfBytes("BrotliStream", "Read of a BrotliStream over a FileStream into one array", Brotli)
            .With(Buffer).Decoding("brotli").Unless(() => DecoderEnd.LackOfBrotli),
    };

    private static void GZip(string path, Request request, Tally tally)
    {
        using FileStream file = StreamMethods.Open(path);
        using var content = new GZipStream(file, CompressionMode.Decompress);
        StreamMethods.Drain(content, request.Value(Buffer), long.MaxValue, tally);
        DecoderEnd.Check(content, file);
    }

    private static void Brotli(string path, Request request, Tally tally)
    {
        using FileStream file = StreamMethods.Open(path);
        using var content = new BrotliStream(file, CompressionMode.Decompress);
        StreamMethods.Drain(content, request.Value(Buffer), long.MaxValue, tally);
        DecoderEnd.Check(content, file);
    }
}
