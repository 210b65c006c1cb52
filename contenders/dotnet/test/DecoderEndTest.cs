using System;
using System.Collections.Generic;
using System.Linq;

/// <summary>
/// Ends of compressed files: streams that follow one another, also where a buffer of the decoder
/// ends; files that are cut off at any byte, go on behind their end, or are damaged.
/// </summary>
internal static class DecoderEndTest
{
    private const string GZip = "GZipStream";
    private const string Brotli = "BrotliStream";
    private const int NameFlag = 8;
    private const int FlagsAt = 3;
    private const int HeadBytes = 10;
    private const int ChecksumFromEnd = 8;
    private const int BrotliBuffer = 65536;
    /// <summary>What a brotli adds to bytes that it cannot make smaller, at most.</summary>
    private const int Overhead = 40;
    private const int EndBytes = 40;
    private const int SomeBytes = 997;
    private const string Cut = "ends before";
    private const string Truncated = "truncated";
    private const string GoesOn = "bytes follow";

    private static readonly Corpus Long = Corpus.Texts.First(it => it.Name == "long");
    private static readonly Corpus Short = Corpus.Texts.First(it => it.Name == "unended");

    private static long OfBoth => Long.Truth["newlines"] + Short.Truth["newlines"];

    internal static void Run()
    {
        using var folder = new TestFolder();
        foreach (string method in new[] { GZip, Brotli })
        {
            CutOff(method, folder);
            GoingOn(method, folder);
        }
        Twice(folder);
        AtTheEndOfABuffer(folder);
        BrotliAtTheEndOfABuffer(folder);
        Damaged(folder);
    }

    private static byte[] Packed(string method, Corpus corpus) => method == GZip ? corpus.GZip() : corpus.Brotli();

    private static Talk Read(string method, TestFolder folder, byte[] content) =>
        Talk.Read(method, "IndexOf", "newlines", folder.Write(method == GZip ? "x.gz" : "x.br", content));

    private static void Fails(string method, TestFolder folder, byte[] content, string what, params string[] reasons)
    {
        Talk talk = Read(method, folder, content);
        bool isSo = reasons.Any(reason => talk.Failure.Contains(reason, StringComparison.Ordinal));
        Check.That(isSo, $"{method}: {what} fails: {string.Join(" or ", reasons)}", talk.Lines);
    }

    private static void Decodes(TestFolder folder, byte[] content, long newlines, string what)
    {
        Talk talk = Read(GZip, folder, content);
        bool isSo = talk.Samples.Any() && talk.Samples.All(it => it.GetProperty("newlines").GetInt64() == newlines);
        Check.That(isSo, $"{GZip}: {what} has {newlines} newlines", talk.Lines);
    }

    private static void CutOff(string method, TestFolder folder)
    {
        foreach (Corpus corpus in new[] { Short, Long })
        {
            byte[] whole = Packed(method, corpus);
            foreach (int length in Enumerable.Range(0, whole.Length).Where(IsTried))
            {
                Fails(method, folder, whole[..length], $"{length} of {whole.Length} bytes", Cut, Truncated);
            }

            bool IsTried(int length) =>
                length < EndBytes || whole.Length - length < EndBytes || length % SomeBytes == 0;
        }
    }

    private static void GoingOn(string method, TestFolder folder)
    {
        foreach (Corpus corpus in new[] { Short, Long })
        {
            byte[] whole = Packed(method, corpus);
            foreach (int more in new[] { 1, 2, 8192, 70_000, 200_000 })
            {
                byte[] content = whole.Concat(Enumerable.Repeat((byte)'x', more)).ToArray();
                Fails(method, folder, content, $"{whole.Length} bytes and {more} others", GoesOn);
            }
        }
        byte[] twice = Packed(Brotli, Short).Concat(Packed(Brotli, Short)).ToArray();
        Fails(Brotli, folder, twice, "one after the other", GoesOn);
    }

    private static void Twice(TestFolder folder)
    {
        byte[] pair = Long.GZip().Concat(Short.GZip()).ToArray();
        byte[] triple = pair.Concat(Corpus.GZipOfNothing()).ToArray();
        byte[] begun = pair.Append((byte)0x1F).ToArray();
        Decodes(folder, pair, OfBoth, "two members");
        Decodes(folder, triple, OfBoth, "two members and one of nothing");
        Fails(GZip, folder, pair[..^1], "two members, cut off", Cut, Truncated);
        Fails(GZip, folder, begun, "two members and the first byte of a third", Cut, GoesOn, Truncated);
    }

    /// <summary>Members that end around the end of a buffer.</summary>
    private static void AtTheEndOfABuffer(TestFolder folder)
    {
        foreach (int end in new[] { 4096, 8192, 16384, 65536 })
        {
            for (int length = end - 1; length <= end + 1; length++)
            {
                byte[] member = WithLength(Short.GZip(), length);
                byte[] pair = member.Concat(Long.GZip()).ToArray();
                Decodes(folder, member, Short.Truth["newlines"], $"a member of {length} bytes");
                Decodes(folder, pair, OfBoth, $"one after a member of {length} bytes");
                byte[] longer = member.Append((byte)'x').ToArray();
                Fails(GZip, folder, longer, $"a byte after a member of {length} bytes", GoesOn);
            }
        }
    }

    /// <summary>The same for a brotli of bytes that it cannot make smaller.</summary>
    private static void BrotliAtTheEndOfABuffer(TestFolder folder)
    {
        int[] ends = { BrotliBuffer - 16, BrotliBuffer, 2 * BrotliBuffer };
        int found = 0;
        for (int end = ends[0] - Overhead; end <= ends[^1]; end++)
        {
            if (!ends.Any(it => it - Overhead <= end && end <= it))
            {
                continue;
            }
            var content = new byte[end];
            new Random(end).NextBytes(content);
            byte[] packed = Corpus.Of(content).Brotli();
            if (ends.Any(it => Math.Abs(packed.Length - it) <= 1))
            {
                found++;
                Check.That(Read(Brotli, folder, packed).Failure == "", $"{Brotli}: {packed.Length} bytes", "");
                byte[] longer = packed.Append((byte)'x').ToArray();
                Fails(Brotli, folder, longer, $"a byte after {packed.Length} bytes", GoesOn);
            }
        }
        Check.That(found >= ends.Length, $"{Brotli}: some end with a buffer", found);
    }

    /// <summary>The same gzip with a name in its head, which fills it up to this length.</summary>
    private static byte[] WithLength(byte[] gzip, int length)
    {
        IEnumerable<byte> name = Enumerable.Repeat((byte)'n', length - gzip.Length - 1).Append((byte)0);
        byte[] named = gzip[..HeadBytes].Concat(name).Concat(gzip[HeadBytes..]).ToArray();
        named[FlagsAt] |= NameFlag;
        return named;
    }

    private static void Damaged(TestFolder folder)
    {
        byte[] gzip = Long.GZip();
        gzip[^ChecksumFromEnd] ^= 1;
        Fails(GZip, folder, gzip, "another checksum", ": ");
        byte[] brotli = Long.Brotli();
        brotli[brotli.Length / 2] ^= 0xFF;
        Fails(Brotli, folder, brotli, "another byte", ": ");
        foreach (string method in new[] { GZip, Brotli })
        {
            Fails(method, folder, Long.Content, "plain text", ": ");
        }
    }
}
