using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;

/// <summary>
/// Every method that reads files, with every scan, work and setting, on every corpus; each answer
/// is compared with the truth. Ranges of parameters and names are checked, too.
/// </summary>
internal static class GridTest
{
    private static readonly long[] Values = { 0, 1, 7, 128, 4095, 4097, 100_000 };

    internal static void Run()
    {
        using var folder = new TestFolder();
        foreach (Method method in Methods.All)
        {
            Ranges(method);
            if (method.Lack == null && method.Reads == Method.File)
            {
                Read(method, folder);
            }
        }
        Check.That(Methods.All.Select(it => it.Name).Distinct().Count() == Methods.All.Length, "names are unique", "");
    }

    private static void Ranges(Method method)
    {
        bool isFit = method.Params.All(it => it.Min <= it.Default && it.Default <= it.Max);
        Check.That(isFit, $"{method.Name}: defaults are within their ranges", "");
        Check.That(method.Name.IndexOfAny("/@, ".ToCharArray()) < 0, $"{method.Name} fits into a trial's name", "");
    }

    private static void Read(Method method, TestFolder folder)
    {
        foreach (Corpus corpus in Corpora(method))
        {
            string path = folder.Write(method.Decodes == "brotli" ? "file.br" : "file", Packed(method, corpus));
            foreach (WorkScans one in method.Scans)
            {
                foreach (string scan in one.Scans)
                {
                    Read(method, one.Work, scan, path, corpus);
                }
            }
        }
    }

    private static void Read(Method method, Work work, string scan, string path, Corpus corpus)
    {
        foreach (string[] settings in Settings(method))
        {
            string[] words = new[] { method.Name, scan, work.Word(), path }.Concat(settings).ToArray();
            Talk talk = Talk.Read(words);
            string what = $"{string.Join(" ", words)} of {corpus.Name}";
            Check.That(talk.Shape == "hello ready sample done sample sample done", $"{what}: its turns", talk.Lines);
            bool isRight = talk.Samples.All(sample => IsRight(sample, work, corpus));
            Check.That(isRight, $"{what}: its answers", talk.Lines);
        }
    }

    /// <summary>The default, then each parameter with each value in its range.</summary>
    private static IEnumerable<string[]> Settings(Method method) =>
        method.Params.SelectMany(SettingsOf).Prepend(Array.Empty<string>());

    private static IEnumerable<string[]> SettingsOf(Param param) =>
        Values.Where(it => param.Min <= it && it <= param.Max).Select(it => new[] { $"{param.Name}={it}" });

    private static IEnumerable<Corpus> Corpora(Method method) =>
        method.Scans.Any(one => one.Work == Work.Sum) ? Corpus.Texts.Append(Corpus.EveryByte) : Corpus.Texts;

    private static byte[] Packed(Method method, Corpus corpus) => method.Decodes switch
    {
        "gzip" => corpus.GZip(),
        "brotli" => corpus.Brotli(),
        _ => corpus.Content,
    };

    private static bool IsRight(JsonElement sample, Work work, Corpus corpus)
    {
        string proof = work == Work.Discard ? "bytes" : work.Word();
        bool isProven = sample.TryGetProperty(proof, out _)
            || work == Work.Newlines && sample.TryGetProperty("lines", out _);
        return isProven && corpus.Truth.All(
            truth => !sample.TryGetProperty(truth.Key, out JsonElement said) || said.GetInt64() == truth.Value);
    }
}
