using System;
using System.IO;
using System.Threading.Tasks;

/// <summary>
/// The methods that read every regular file below a folder. Directory.EnumerateFiles follows links
/// unless they are left out, and returns pipes, sockets and devices among the files; the contender
/// reads regular ones only.
/// </summary>
internal static class FolderMethods
{
    private const int ThreadsMax = 1024;

    private static readonly Param Threads =
        new Param("threads", Math.Min(Environment.ProcessorCount, ThreadsMax), 1, ThreadsMax);

    private static readonly EnumerationOptions WholeTree = new EnumerationOptions
    {
        RecurseSubdirectories = true,
        AttributesToSkip = FileAttributes.ReparsePoint,
        IgnoreInaccessible = false,
    };

    internal static readonly Method[] All =
    {
        Method.OfFolder("Directory.EnumerateFiles",
            "Directory.EnumerateFiles, and File.ReadAllBytes of each regular file, one after the other", OneByOne),
        Method.OfFolder("Parallel.ForEach",
            "Parallel.ForEach over Directory.EnumerateFiles, and File.ReadAllBytes of regular files, by threads",
            InParallel).With(Threads),
    };

    private static Answer OneByOne(Request request)
    {
        var found = new FilesTally(request);
        foreach (string path in Directory.EnumerateFiles(request.Path, "*", WholeTree))
        {
            Read(path, request, found);
        }
        return found.Answer;
    }

    private static Answer InParallel(Request request)
    {
        var all = new FilesTally(request);
        Parallel.ForEach(
            Directory.EnumerateFiles(request.Path, "*", WholeTree),
            new ParallelOptions { MaxDegreeOfParallelism = request.Value(Threads) },
            () => new FilesTally(request),
            (path, state, found) =>
            {
                Read(path, request, found);
                return found;
            },
            found =>
            {
                lock (all)
                {
                    all.Merge(found);
                }
            });
        return all.Answer;
    }

    private static void Read(string path, Request request, FilesTally found)
    {
        if (FileKind.IsRegular(path))
        {
            found.ReadFile(path, request, (file, _, tally) => tally.Take(File.ReadAllBytes(file)));
        }
    }
}
