using System;
using System.IO;
using System.Threading.Tasks;

static class FileStreamReadAsync
{
    const int BufferBytes = 4096; // = buffer_bytes

    // Counts newlines, one ReadAsync at a time into one array.
    public static async Task<long> Newlines(string path)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read, 4096, useAsync: true);
        byte[] buffer = new byte[BufferBytes];
        long newlines = 0;
        int length;
        while ((length = await file.ReadAsync(buffer, 0, buffer.Length)) > 0)
        {
            newlines += Scan.Count<byte>(buffer.AsSpan(0, length), (byte)'\n');
        }
        return newlines;
    }
}
