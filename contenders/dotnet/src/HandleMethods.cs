using System;
using System.IO;
using Microsoft.Win32.SafeHandles;

/// <summary>
/// The method of a file's handle without a stream: File.OpenHandle and RandomAccess.
/// </summary>
internal static class HandleMethods
{
    private static readonly Param Buffer = new Param("buffer_bytes", 4096, 1, StreamMethods.BytesMax);

    internal static readonly Method[] All =
    {
        Method.OfBytes("RandomAccess.Read", "RandomAccess.Read of a handle by File.OpenHandle into one array", Read)
            .With(Buffer).ReadingParts(),
    };

    private static void Read(string path, Request request, Tally tally)
    {
        using SafeFileHandle file = File.OpenHandle(path);
        byte[] buffer = new byte[request.Value(Buffer)];
        long at = request.Part.Start;
        long left = request.Part.Length;
        while (left > 0)
        {
            int length = RandomAccess.Read(file, buffer.AsSpan(0, (int)Math.Min(left, buffer.Length)), at);
            if (length == 0)
            {
                return;
            }
            tally.Take(buffer.AsSpan(0, length));
            at += length;
            left -= length;
        }
    }
}
