using System;
using System.IO;

static class FileStreamCopyTo
{
    const int BufferBytes = 81920; // = buffer_bytes

    // Counts newlines of what is written into a Stream.
    public static long Newlines(string path)
    {
        using FileStream file = File.OpenRead(path);
        var counter = new Counter();
        file.CopyTo(counter, BufferBytes);
        return counter.Newlines;
    }

    sealed class Counter : Stream
    {
        public long Newlines { get; private set; }

        public override void Write(byte[] buffer, int offset, int count) =>
            Newlines += Scan.Count<byte>(buffer.AsSpan(offset, count), (byte)'\n');

        public override bool CanRead => false;
        public override bool CanSeek => false;
        public override bool CanWrite => true;
        public override long Length => throw new NotSupportedException();
        public override long Position { get => Length; set => SetLength(value); }
        public override void Flush() { }
        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();
        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
        public override void SetLength(long value) => throw new NotSupportedException();
    }
}
