using System;
using System.Collections.Generic;
using System.IO;

/// <summary>
/// The target that is a list of files (PROTOCOL.md): their paths, each ended by a zero byte. The
/// list is read before the first window; the files are not read here.
/// </summary>
internal static class FileList
{
    /// <summary>The word that says that the target is a list.</summary>
    internal const string Word = "list=1";
    private const byte Nul = 0;

    internal static IReadOnlyList<string> Read(string list)
    {
        byte[] bytes;
        try
        {
            bytes = File.ReadAllBytes(list);
        }
        catch (Exception failure) when (failure is IOException || failure is UnauthorizedAccessException)
        {
            throw new Refusal($"{list}: {Failure.Cause(failure)}");
        }
        var paths = new List<string>();
        for (int start = 0; start < bytes.Length;)
        {
            int end = Array.IndexOf(bytes, Nul, start);
            if (end <= start)
            {
                throw new Refusal($"{list}: a path is empty, or is not ended by a zero byte");
            }
            paths.Add(Spelling.Decode(bytes[start..end]));
            start = end + 1;
        }
        return paths;
    }
}
