using System;

static class Scan
{
    // Counts bytes or characters one by one.
    public static long Count<T>(ReadOnlySpan<T> items, T wanted) where T : struct, IEquatable<T>
    {
        int count = 0;
        for (int i = 0; i < items.Length; i++)
        {
            if (items[i].Equals(wanted))
            {
                count++;
            }
        }
        return count;
    }
}
