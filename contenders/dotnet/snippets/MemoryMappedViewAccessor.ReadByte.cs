using System.IO;
using System.IO.MemoryMappedFiles;

static class MemoryMappedViewAccessorReadByte
{
    // Counts newlines of a mapped file, byte by byte.
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
        long newlines = 0;
        for (long at = 0; at < length; at++)
        {
            if (view.ReadByte(at) == '\n')
            {
                newlines++;
            }
        }
        return newlines;
    }
}
