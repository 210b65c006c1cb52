using System.IO;

static class FileReadAllLines
{
    // Counts lines, which are all held at once.
    public static long Lines(string path) => File.ReadAllLines(path).Length;
}
