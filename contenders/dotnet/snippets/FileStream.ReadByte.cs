using System.IO;

static class FileStreamReadByte
{
    const int BufferBytes = 4096; // = buffer_bytes

    // Counts newlines, one byte after the other out of the stream's buffer.
    public static long Newlines(string path)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read, BufferBytes);
        long newlines = 0;
        for (int b; (b = file.ReadByte()) >= 0;)
        {
            if (b == '\n')
            {
                newlines++;
            }
        }
        return newlines;
    }
}
