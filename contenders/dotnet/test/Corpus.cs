using System.Collections.Generic;
using System.IO;
using System.IO.Compression;
using System.Text;

/// <summary>Content of a file, with its true answers by the words of messages.</summary>
internal sealed class Corpus
{
    private const int LongLines = 20011;
    private const string Filler = "a line of some length";

    private Corpus(string name, byte[] content)
    {
        Name = name;
        Content = content;
        long newlines = 0;
        long sum = 0;
        foreach (byte b in content)
        {
            newlines += b == '\n' ? 1 : 0;
            sum += b;
        }
        bool isUnended = content.Length > 0 && content[content.Length - 1] != '\n';
        Truth = new Dictionary<string, long>
        {
            ["bytes"] = content.Length,
            ["newlines"] = newlines,
            ["lines"] = newlines + (isUnended ? 1 : 0),
            ["sum"] = sum % 256,
        };
    }

    /// <summary>Content that is text in lines.</summary>
    internal static IReadOnlyList<Corpus> Texts { get; } = new[]
    {
        Text("empty", ""),
        Text("one newline", "\n"),
        Text("one line", "a\n"),
        Text("unended", "a\nb\nc"),
        Text("long", LongText()),
        Text("4095 bytes", new string('x', 4094) + "\n"),
        Text("8193 bytes", "\n" + new string('x', 8192)),
    };

    /// <summary>Content of any bytes.</summary>
    internal static Corpus Of(byte[] content) => new Corpus("bytes", content);

    internal string Name { get; }

    internal byte[] Content { get; }

    internal IReadOnlyDictionary<string, long> Truth { get; }

    internal byte[] GZip()
    {
        var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionLevel.Optimal))
        {
            gzip.Write(Content);
        }
        // To GZipStream, nothing at all is the content of nothing.
        byte[] bytes = packed.ToArray();
        return bytes.Length > 0 ? bytes : GZipOfNothing();
    }

    internal byte[] Brotli()
    {
        var packed = new MemoryStream();
        using (var brotli = new BrotliStream(packed, CompressionLevel.Fastest))
        {
            brotli.Write(Content);
        }
        return packed.ToArray();
    }

    internal static byte[] GZipOfNothing() =>
        new byte[] { 0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

    private static Corpus Text(string name, string content) => new Corpus(name, Encoding.ASCII.GetBytes(content));

    private static string LongText()
    {
        var text = new StringBuilder();
        for (int i = 0; i < LongLines; i++)
        {
            text.Append(Filler, 0, i % Filler.Length).Append('\n');
        }
        return text.Append("end").ToString();
    }
}
