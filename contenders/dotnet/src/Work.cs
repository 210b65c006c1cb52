using System;

/// <summary>
/// The works that can be done with the bytes. How each visits them is in <see cref="Scan"/>.
/// </summary>
internal enum Work
{
    Newlines,
    Lines,
    Sum,
    Discard,
}

/// <summary>
/// The spelling of works, on the command line and in messages, in their order.
/// </summary>
internal static class WorkWords
{
    private static readonly string[] Words = { "newlines", "lines", "sum", "discard" };

    internal static string Word(this Work work) => Words[(int)work];

    internal static Work Parse(string word)
    {
        int index = Array.IndexOf(Words, word);
        return index < 0 ? throw new Refusal($"there is no work '{word}'") : (Work)index;
    }
}
