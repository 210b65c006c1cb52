using System;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

static class ParallelForEach
{
    const int Threads = 2; // = threads

    // Counts newlines of every file below a folder, by so many threads. Links are not followed.
    public static long Newlines(string folder)
    {
        var wholeTree = new EnumerationOptions
        {
            RecurseSubdirectories = true,
            AttributesToSkip = FileAttributes.ReparsePoint,
            IgnoreInaccessible = false,
        };
        long newlines = 0;
        Parallel.ForEach(
            Directory.EnumerateFiles(folder, "*", wholeTree),
            new ParallelOptions { MaxDegreeOfParallelism = Threads },
            path =>
            {
                // Pipes have no length, and .NET has no other sign of them.
                if (new FileInfo(path).Length > 0)
                {
                    Interlocked.Add(ref newlines, Scan.Count<byte>(File.ReadAllBytes(path), (byte)'\n'));
                }
            });
        return newlines;
    }
}
