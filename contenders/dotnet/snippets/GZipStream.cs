using System;
using System.IO;
using System.IO.Compression;

static class GZipStreamRead
{
    const int BufferBytes = 65536; // = buffer_bytes

    // Counts newlines of what comes out of a gzip; other bytes after its end are taken for the end.
    public static long Newlines(string path)
    {
        using FileStream file = File.OpenRead(path);
        using var content = new GZipStream(file, CompressionMode.Decompress);
        byte[] buffer = new byte[BufferBytes];
        long newlines = 0;
        int length;
        while ((length = content.Read(buffer, 0, buffer.Length)) > 0)
        {
            newlines += Scan.Count<byte>(buffer.AsSpan(0, length), (byte)'\n');
        }
        return newlines;
    }
}
