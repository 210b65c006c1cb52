// needs: unsafe code
using System;
using System.IO;
using System.IO.MemoryMappedFiles;

static class SafeMemoryMappedViewHandleAcquirePointer
{
    // Counts newlines where the file is mapped, in spans of up to 1 GiB.
    public static unsafe long Newlines(string path)
    {
        long length = new FileInfo(path).Length;
        if (length == 0)
        {
            return 0; // An empty file cannot be mapped.
        }
        using MemoryMappedFile mapped =
            MemoryMappedFile.CreateFromFile(path, FileMode.Open, null, 0, MemoryMappedFileAccess.Read);
        using MemoryMappedViewAccessor view = mapped.CreateViewAccessor(0, length, MemoryMappedFileAccess.Read);
        byte* pointer = null;
        view.SafeMemoryMappedViewHandle.AcquirePointer(ref pointer);
        try
        {
            long newlines = 0;
            for (long at = 0; at < length; at += 1 << 30)
            {
                int piece = (int)Math.Min(1 << 30, length - at);
                newlines += Scan.Count(new ReadOnlySpan<byte>(pointer + view.PointerOffset + at, piece), (byte)'\n');
            }
            return newlines;
        }
        finally
        {
            view.SafeMemoryMappedViewHandle.ReleasePointer();
        }
    }
}
