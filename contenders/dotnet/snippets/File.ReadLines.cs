// usual: yes
using System.IO;

static class FileReadLines
{
    // Counts lines; each is a new string.
    public static long Lines(string path)
    {
        long lines = 0;
        foreach (string line in File.ReadLines(path))
        {
            lines++;
        }
        return lines;
    }
}
