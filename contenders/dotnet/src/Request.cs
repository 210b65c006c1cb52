using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

/// <summary>
/// The request of one session, read from the command line and checked against the method:
/// `read METHOD SCAN WORK TARGET [name=value ...]`.
/// </summary>
internal sealed class Request
{
    private const int ScanWord = 2;
    private const int WorkWord = 3;
    private const int TargetWord = 4;

    private readonly List<Number> values = new List<Number>();

    private Request(Method method, Work work, string scan, string path)
    {
        Method = method;
        Work = work;
        Scan = scan;
        Path = path;
    }

    internal Method Method { get; }

    internal Work Work { get; }

    internal string Scan { get; }

    /// <summary>The target.</summary>
    internal string Path { get; }

    /// <summary>The bytes of it that are read.</summary>
    internal Part Part { get; private set; } = Part.Whole;

    /// <summary>The files that are read if the target is a list of them.</summary>
    internal IReadOnlyList<string>? Files { get; private set; }

    /// <summary>Every parameter in force.</summary>
    internal IReadOnlyList<Number> Params => values;

    internal static Request Parse(string[] words)
    {
        Method method = Methods.Named(words[1]);
        Work work = WorkWords.Parse(words[WorkWord]);
        string scan = words[ScanWord];
        string[] scans = method.ScansFor(work);
        if (Array.IndexOf(scans, scan) < 0)
        {
            throw new Refusal($"{method.Name} has no scan '{scan}' for {work.Word()}"
                + $" (it has: {string.Join(", ", scans)})");
        }
        Spelling.Check(words, TargetWord);
        var request = new Request(method, work, scan, words[TargetWord]);
        for (int i = TargetWord + 1; i < words.Length; i++)
        {
            request.Set(words[i]);
        }
        bool IsGiven(string bound) =>
            words.Skip(TargetWord + 1).Any(word => word.StartsWith(bound + "=", StringComparison.Ordinal));
        if (IsGiven(Part.StartWord) != IsGiven(Part.LengthWord))
        {
            throw new Refusal($"a part needs both {Part.StartWord} and {Part.LengthWord}");
        }
        foreach (Param param in method.Params)
        {
            if (!request.Has(param))
            {
                request.values.Add(new Number(param.Name, param.Default));
            }
        }
        return method.Lack is string lack ? throw Refusal.Unavailable(lack) : request;
    }

    /// <summary>The value of a parameter that fits into the length of an array.</summary>
    internal int Value(Param param) => checked((int)values.First(one => one.Name == param.Name).Value);

    private bool Has(Param param) => values.Exists(one => one.Name == param.Name);

    private void Set(string word)
    {
        if (Method.Lists && word == FileList.Word)
        {
            Files = FileList.Read(Path);
            return;
        }
        string[] pair = word.Split('=', 2);
        long value = -1;
        bool isNumber = pair.Length == 2
            && long.TryParse(pair[1], NumberStyles.None, CultureInfo.InvariantCulture, out value);
        if (Method.Parts && isNumber && (pair[0] == Part.StartWord || pair[0] == Part.LengthWord))
        {
            Part = Part.With(pair[0], value);
            return;
        }
        Param param = Array.Find(Method.Params, known => known.Name == pair[0])
            ?? throw new Refusal($"{Method.Name} has no parameter '{pair[0]}'");
        if (!isNumber || value < param.Min || value > param.Max)
        {
            throw new Refusal($"{Method.Name}: {param.Name} must be an integer from {param.Min} to {param.Max},"
                + $" got '{word}'");
        }
        if (Has(param))
        {
            throw new Refusal($"{Method.Name}: {param.Name} is given twice");
        }
        values.Add(new Number(param.Name, value));
    }
}
