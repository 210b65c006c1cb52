using System;
using System.IO;

/// <summary>
/// The consumer as a stream, for methods that write into one: what is written is visited, and not
/// kept.
/// </summary>
internal sealed class TallyStream : Stream
{
    private readonly Tally tally;

    internal TallyStream(Tally tally)
    {
        this.tally = tally;
    }

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override void Write(byte[] buffer, int offset, int count) => tally.Take(buffer.AsSpan(offset, count));

    public override void Write(ReadOnlySpan<byte> buffer) => tally.Take(buffer);

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
