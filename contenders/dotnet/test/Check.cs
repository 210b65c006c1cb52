using System;
using System.Collections.Generic;

/// <summary>Counts checks, and shows those that fail.</summary>
internal static class Check
{
    private static int passed;
    private static int failed;

    internal static void That(bool isSo, string what, object seen)
    {
        if (isSo)
        {
            passed++;
            return;
        }
        failed++;
        object shown = seen is IEnumerable<string> lines ? string.Join("\n", lines) : seen;
        Console.Error.WriteLine($"FAILED: {what}\n{shown}");
    }

    /// <summary>Says how many passed and failed; returns the exit code.</summary>
    internal static int Finish()
    {
        Console.WriteLine($"{passed} passed, {failed} failed");
        return failed == 0 ? 0 : 1;
    }
}
