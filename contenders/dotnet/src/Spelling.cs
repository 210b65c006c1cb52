using System;
using System.IO;
using System.Linq;
using System.Text;

/// <summary>
/// The names that .NET can spell. It takes paths as strings, which it encodes in UTF-8: of a name
/// in other bytes it knows only what it replaced, and would open another file. Such a name makes a
/// session unavailable.
/// </summary>
internal static class Spelling
{
    /// <summary>What replaces bytes that are no UTF-8.</summary>
    private const char Replacement = '\uFFFD';
    private const string CommandLine = "/proc/self/cmdline";
    private const byte Nul = 0;

    private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

    /// <summary>Whether bytes of a name may have been replaced.</summary>
    internal static bool HasLost(string path) => path.IndexOf(Replacement) >= 0;

    /// <summary>Refuses a word of the command line if it is not what was written there.</summary>
    internal static void Check(string[] words, int index)
    {
        string word = words[index];
        if (HasLost(word) && !Exact(words.Length - index).SequenceEqual(Strict.GetBytes(word)))
        {
            throw Unavailable(word);
        }
    }

    /// <summary>The name of these bytes.</summary>
    internal static string Decode(byte[] path)
    {
        try
        {
            return Strict.GetString(path);
        }
        catch (DecoderFallbackException)
        {
            throw Unavailable(Encoding.UTF8.GetString(path));
        }
    }

    internal static Refusal Unavailable(string path) =>
        Refusal.Unavailable($"{path}: .NET can only spell names in UTF-8");

    /// <summary>The bytes of a word of the command line, counted from its end.</summary>
    private static byte[] Exact(int fromEnd)
    {
        byte[] line = File.ReadAllBytes(CommandLine);
        // Each word is ended by a zero byte.
        int end = line.Length - 1;
        for (int skipped = 1; skipped < fromEnd; skipped++)
        {
            end = Array.LastIndexOf(line, Nul, end - 1);
        }
        int start = Array.LastIndexOf(line, Nul, end - 1) + 1;
        return line[start..end];
    }
}
