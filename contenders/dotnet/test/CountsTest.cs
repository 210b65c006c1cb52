using System.Collections.Generic;
using System.Linq;
using System.Text.Json;

/// <summary>The counts of the runtime: they come once a turn, after the samples.</summary>
internal static class CountsTest
{
    private const int Size = 3_000_000;
    private const int Readings = 3;

    internal static void Run()
    {
        using var folder = new TestFolder();
        string path = folder.Write("file", new byte[Size]);
        Talk talk = Talk.Of("go 1 2\n", "read", "File.ReadAllBytes", "-", "discard", path);
        List<string> words = talk.Messages.Select(Talk.Word).ToList();
        string order = string.Join(" ", words);
        Check.That(order == "hello ready sample sample count count count done", "counts come before done", talk.Lines);
        JsonElement allocated = talk.Messages.First(it => Talk.Word(it) == "count" && Named(it) == "allocated_bytes");
        long bytes = allocated.GetProperty("value").GetInt64();
        bool isOfAll = bytes >= Readings * Size && bytes < (Readings + 1) * Size;
        Check.That(isOfAll, "allocations of three readings are counted", talk.Lines);
        bool hasTimes = talk.Samples.All(
            it => it.TryGetProperty("cpu_user_ns", out _) && it.TryGetProperty("cpu_system_ns", out _));
        Check.That(hasTimes, "samples have processor times", talk.Lines);
    }

    private static string Named(JsonElement count) => count.GetProperty("of").GetString() ?? "";
}
