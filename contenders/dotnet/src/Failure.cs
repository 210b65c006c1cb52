using System;
using System.IO;

/// <summary>
/// What exceptions of a reading become: one line with the path and the cause. Exceptions of .NET
/// have the path in their messages, within a sentence; here it comes first, and the cause has the
/// words of the system.
/// </summary>
internal static class Failure
{
    private const string Absent = "no such file or directory";
    /// <summary>What comes after a cause of the system: the path.</summary>
    private const string BeforePath = " : '";

    /// <summary>The end of the session for a failure of its reading.</summary>
    internal static Refusal RefusalOf(Exception failure, Request request)
    {
        switch (failure)
        {
            // One of the threads of a reading failed.
            case AggregateException several when several.InnerException != null:
                return RefusalOf(several.InnerException, request);
            case Refusal refusal:
                return refusal;
            case FileFailure one when IsAbsent(one.Cause) && Spelling.HasLost(one.Path):
                return Spelling.Unavailable(one.Path);
            case FileFailure one:
                return new Refusal($"{one.Path}: {CauseOfFile(one.Cause, one.Path)}");
            default:
                bool isOfFolder = request.Method.Reads == Method.Folder;
                return new Refusal(
                    $"{request.Path}: {(isOfFolder ? Cause(failure) : CauseOfFile(failure, request.Path))}");
        }
    }

    /// <summary>To .NET, a folder in the place of a file is a file without permission.</summary>
    private static string CauseOfFile(Exception failure, string path)
    {
        if (failure is UnauthorizedAccessException)
        {
            return Directory.Exists(path) ? "is a directory" : "permission denied";
        }
        return Cause(failure);
    }

    /// <summary>Why a file or folder was not read, without its path where .NET names it.</summary>
    internal static string Cause(Exception failure)
    {
        if (IsAbsent(failure))
        {
            return Absent;
        }
        int path = failure.Message.IndexOf(BeforePath, StringComparison.Ordinal);
        return path < 0 ? failure.Message : failure.Message.Substring(0, path);
    }

    private static bool IsAbsent(Exception failure) =>
        failure is FileNotFoundException || failure is DirectoryNotFoundException;
}
