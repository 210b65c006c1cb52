using System;
using System.IO;
using System.IO.MemoryMappedFiles;

/// <summary>
/// The methods of a MemoryMappedFile: the whole file, or a part of it, is mapped in one view, and
/// is unmapped within the window. An empty file cannot be mapped and is only opened.
///
/// A file that becomes shorter while it is mapped ends the program.
/// </summary>
internal static class MappedMethods
{
    private const int PieceMax = 1 << 30;

    private static readonly Param Buffer = new Param("buffer_bytes", 65536, 1, StreamMethods.BytesMax);

    internal static readonly Method[] All =
    {
        Method.OfBytes("MemoryMappedViewAccessor.ReadArray",
            "ReadArray of a view accessor of a mapped file: copied into one array", ReadArray)
            .With(Buffer),
        Method.OfNewlines("MemoryMappedViewAccessor.ReadByte",
            "ReadByte of a view accessor of a mapped file, one call for each byte",
            new[] { Method.ByteByByte }, ReadByte),
        Method.OfBytes("MemoryMappedViewStream.Read",
            "Read of a view stream of a mapped file into one array", ReadStream)
            .With(Buffer),
        Method.OfBytes("SafeMemoryMappedViewHandle.AcquirePointer",
            "spans over the pointer to a view of a mapped file; discard visits one byte of each page", ByPointer)
            .ReadingParts(),
    };

    /// <summary>Maps a file and passes the mapping on, unless there is nothing to map.</summary>
    private static void Map(string path, Part part, Action<MemoryMappedFile, long> use)
    {
        FileStream file = StreamMethods.Open(path);
        long length = part.LengthIn(file.Length);
        if (length == 0)
        {
            file.Dispose();
            return;
        }
        using MemoryMappedFile mapped = MemoryMappedFile.CreateFromFile(
            file, null, 0, MemoryMappedFileAccess.Read, HandleInheritability.None, leaveOpen: false);
        use(mapped, length);
    }

    private static void ReadArray(string path, Request request, Tally tally) =>
        Map(path, Part.Whole, (mapped, length) =>
        {
            using MemoryMappedViewAccessor view = mapped.CreateViewAccessor(0, length, MemoryMappedFileAccess.Read);
            byte[] buffer = new byte[request.Value(Buffer)];
            for (long at = 0; at < length; at += buffer.Length)
            {
                int copied = view.ReadArray(at, buffer, 0, (int)Math.Min(buffer.Length, length - at));
                tally.Take(buffer.AsSpan(0, copied));
            }
        });

    private static Answer ReadByte(Request request)
    {
        long bytes = 0;
        long newlines = 0;
        Map(request.Path, Part.Whole, (mapped, length) =>
        {
            using MemoryMappedViewAccessor view = mapped.CreateViewAccessor(0, length, MemoryMappedFileAccess.Read);
            bytes = length;
            newlines = Newlines(view, length);
        });
        return Answer.OfBytes(Work.Newlines, bytes, newlines);
    }

    private static long Newlines(MemoryMappedViewAccessor view, long length)
    {
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

    private static void ReadStream(string path, Request request, Tally tally) =>
        Map(path, Part.Whole, (mapped, length) =>
        {
            using MemoryMappedViewStream view = mapped.CreateViewStream(0, length, MemoryMappedFileAccess.Read);
            StreamMethods.Drain(view, request.Value(Buffer), length, tally);
        });

    private static void ByPointer(string path, Request request, Tally tally) =>
        Map(path, request.Part, (mapped, length) =>
        {
            using MemoryMappedViewAccessor view =
                mapped.CreateViewAccessor(request.Part.Start, length, MemoryMappedFileAccess.Read);
            Visit(view, length, request.Work, tally);
        });

    private static unsafe void Visit(MemoryMappedViewAccessor view, long length, Work work, Tally tally)
    {
        byte* pointer = null;
        view.SafeMemoryMappedViewHandle.AcquirePointer(ref pointer);
        try
        {
            for (long at = 0; at < length; at += PieceMax)
            {
                int piece = (int)Math.Min(PieceMax, length - at);
                var bytes = new ReadOnlySpan<byte>(pointer + view.PointerOffset + at, piece);
                if (work == Work.Discard)
                {
                    Touch(bytes);
                }
                tally.Take(bytes);
            }
        }
        finally
        {
            view.SafeMemoryMappedViewHandle.ReleasePointer();
        }
    }

    /// <summary>Visits one byte of each page, so that the page is there.</summary>
    private static void Touch(ReadOnlySpan<byte> bytes)
    {
        for (int i = 0; i < bytes.Length; i += Environment.SystemPageSize)
        {
            touched = bytes[i];
        }
    }

    /// <summary>The compiler may not leave out what is written here.</summary>
    private static volatile byte touched;
}
