using System;
using System.IO;
using Microsoft.Win32.SafeHandles;

static class RandomAccessRead
{
    const int BufferBytes = 4096; // = buffer_bytes

    // Counts newlines, one read at a time into one array, without a stream.
    public static long Newlines(string path)
    {
        using SafeFileHandle file = File.OpenHandle(path);
        byte[] buffer = new byte[BufferBytes];
        long newlines = 0;
        long at = 0;
        int length;
        while ((length = RandomAccess.Read(file, buffer, at)) > 0)
        {
            newlines += Scan.Count<byte>(buffer.AsSpan(0, length), (byte)'\n');
            at += length;
        }
        return newlines;
    }
}
