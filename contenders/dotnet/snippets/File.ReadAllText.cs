using System;
using System.IO;

static class FileReadAllText
{
    // Counts newlines of the whole file in one string.
    public static long Newlines(string path) => Scan.Count(File.ReadAllText(path).AsSpan(), '\n');
}
