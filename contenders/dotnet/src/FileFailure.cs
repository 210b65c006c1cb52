using System;
using System.IO;

/// <summary>
/// One of several files was not read; the inner exception says why. <see cref="Failure"/> makes the
/// message of it.
/// </summary>
internal sealed class FileFailure : IOException
{
    internal FileFailure(string path, Exception cause) : base(path, cause)
    {
        Path = path;
        Cause = cause;
    }

    internal string Path { get; }

    internal Exception Cause { get; }
}
