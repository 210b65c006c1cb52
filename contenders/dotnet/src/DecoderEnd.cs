using System;
using System.IO;
using System.IO.Compression;
using System.Reflection;

/// <summary>
/// Whether a decoder came to the end of what is compressed, and that to the end of the file.
///
/// The streams of .NET do not say how much of the file they used: what is left in their buffers,
/// and whether the decoder has finished, is only in their private parts. Where a .NET has other
/// ones, the methods are unavailable.
/// </summary>
internal static class DecoderEnd
{
    private const BindingFlags Inside = BindingFlags.Instance | BindingFlags.NonPublic;

    private static readonly FieldInfo? Deflate = typeof(GZipStream).GetField("_deflateStream", Inside);
    private static readonly FieldInfo? Inflater = Deflate?.FieldType.GetField("_inflater", Inside);
    private static readonly MethodInfo? Finished = Inflater?.FieldType.GetMethod("Finished", Type.EmptyTypes);
    private static readonly MethodInfo? NeedsInput = Inflater?.FieldType.GetMethod("NeedsInput", Type.EmptyTypes);

    private static readonly FieldInfo? Decoder = typeof(BrotliStream).GetField("_decoder", Inside);
    private static readonly FieldInfo? Unused = typeof(BrotliStream).GetField("_bufferCount", Inside);

    internal static string? LackOfGZip => Finished == null || NeedsInput == null ? Lack("GZipStream") : null;

    internal static string? LackOfBrotli => Decoder == null || Unused == null ? Lack("BrotliStream") : null;

    internal static void Check(GZipStream content, FileStream file)
    {
        object? inflater = Inflater?.GetValue(Deflate?.GetValue(content));
        bool isFinished = Finished?.Invoke(inflater, null) is true;
        bool isEmpty = NeedsInput?.Invoke(inflater, null) is true;
        Check(isFinished, isEmpty, file);
    }

    internal static void Check(BrotliStream content, FileStream file)
    {
        bool isFinished = Decoder?.GetValue(content) is BrotliDecoder decoder && IsFinished(decoder);
        Check(isFinished, Unused?.GetValue(content) is 0, file);
    }

    private static bool IsFinished(BrotliDecoder decoder) =>
        decoder.Decompress(ReadOnlySpan<byte>.Empty, new byte[1], out _, out _) == System.Buffers.OperationStatus.Done;

    private static void Check(bool isFinished, bool isEmpty, FileStream file)
    {
        if (!isFinished)
        {
            throw new EndOfStreamException("the file ends before what is compressed does");
        }
        if (!isEmpty || file.Position < file.Length)
        {
            throw new InvalidDataException("bytes follow the end of what is compressed");
        }
    }

    private static string Lack(string stream) =>
        $"the {stream} of this .NET does not show where it ends, so it could leave out a part of the file";
}
