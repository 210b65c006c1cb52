using System;
using System.IO;
using System.IO.MemoryMappedFiles;

static class MemoryMappedViewAccessorReadArray
{
    const int BufferBytes = 65536; // = buffer_bytes

    // Counts newlines of a mapped file, copied into one array.
    public static long Newlines(string path)
    {
        long length = new FileInfo(path).Length;
        if (length == 0)
        {
            return 0; // An empty file cannot be mapped.
        }
        using MemoryMappedFile mapped =
            MemoryMappedFile.CreateFromFile(path, FileMode.Open, null, 0, MemoryMappedFileAccess.Read);
        using MemoryMappedViewAccessor view = mapped.CreateViewAccessor(0, length, MemoryMappedFileAccess.Read);
        byte[] buffer = new byte[BufferBytes];
        long newlines = 0;
        for (long at = 0; at < length; at += buffer.Length)
        {
            int copied = view.ReadArray(at, buffer, 0, (int)Math.Min(buffer.Length, length - at));
            newlines += Scan.Count<byte>(buffer.AsSpan(0, copied), (byte)'\n');
        }
        return newlines;
    }
}
