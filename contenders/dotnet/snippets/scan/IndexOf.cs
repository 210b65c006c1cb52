using System;

static class Scan
{
    // Counts bytes or characters from one to the next, in vector instructions.
    public static long Count<T>(ReadOnlySpan<T> items, T wanted) where T : struct, IEquatable<T>
    {
        long count = 0;
        int at;
        while ((at = items.IndexOf(wanted)) >= 0)
        {
            count++;
            items = items.Slice(at + 1);
        }
        return count;
    }
}
