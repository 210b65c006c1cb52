using System.IO;
using System.Text;

static class StreamReaderReadLine
{
    const int BufferBytes = 1024; // = buffer_bytes

    // Counts lines; each is a new string.
    public static long Lines(string path)
    {
        using var reader = new StreamReader(path, Encoding.UTF8, true, BufferBytes);
        long lines = 0;
        while (reader.ReadLine() != null)
        {
            lines++;
        }
        return lines;
    }
}
