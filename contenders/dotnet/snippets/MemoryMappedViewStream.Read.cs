using System;
using System.IO;
using System.IO.MemoryMappedFiles;

static class MemoryMappedViewStreamRead
{
    const int BufferBytes = 65536; // = buffer_bytes

    // Counts newlines of a mapped file, one Read at a time into one array.
    public static long Newlines(string path)
    {
        long left = new FileInfo(path).Length;
        if (left == 0)
        {
            return 0; // An empty file cannot be mapped.
        }
        using MemoryMappedFile mapped =
            MemoryMappedFile.CreateFromFile(path, FileMode.Open, null, 0, MemoryMappedFileAccess.Read);
        using MemoryMappedViewStream view = mapped.CreateViewStream(0, left, MemoryMappedFileAccess.Read);
        byte[] buffer = new byte[BufferBytes];
        long newlines = 0;
        int length;
        while ((length = view.Read(buffer, 0, (int)Math.Min(buffer.Length, left))) > 0)
        {
            newlines += Scan.Count<byte>(buffer.AsSpan(0, length), (byte)'\n');
            left -= length;
        }
        return newlines;
    }
}
