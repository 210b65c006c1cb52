using System;
using System.IO;

static class FileStreamRead
{
    const int BufferBytes = 4096; // = buffer_bytes
    const bool Sequential = false; // = sequential

    // Counts newlines, one Read at a time into one array.
    public static long Newlines(string path)
    {
        FileOptions options = Sequential ? FileOptions.SequentialScan : FileOptions.None;
        using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read, 4096, options);
        byte[] buffer = new byte[BufferBytes];
        long newlines = 0;
        int length;
        while ((length = file.Read(buffer, 0, buffer.Length)) > 0)
        {
            newlines += Scan.Count<byte>(buffer.AsSpan(0, length), (byte)'\n');
        }
        return newlines;
    }
}
