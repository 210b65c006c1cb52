using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

/// <summary>
/// Runs the code that advice shows, which is compiled beside this class, on every corpus: on a file
/// of it, compressed where the code decodes, or on a folder with it. `SnippetsTest FOLDER`, which
/// has the texts of the snippets.
/// </summary>
internal static class SnippetsTest
{
    private static int Main(string[] words)
    {
        string[] snippets = Directory.GetFiles(words[0], "*.cs");
        Check.That(snippets.Length > 1, "there are snippets", words[0]);
        foreach (string snippet in snippets)
        {
            Run(snippet);
        }
        return Check.Finish();
    }

    private static void Run(string snippet)
    {
        string code = File.ReadAllText(snippet);
        string name = Regex.Match(code, @"^static class (\w+)$", RegexOptions.Multiline).Groups[1].Value;
        MethodInfo function = Assembly.GetExecutingAssembly().GetType(name, true)!.GetMethods()
            .Single(it => it.IsPublic && it.IsStatic);
        string proof = code.Contains("Counts lines", StringComparison.Ordinal) ? "lines" : "newlines";
        foreach (Corpus corpus in Corpus.Texts)
        {
            using var folder = new TestFolder();
            string target = Target(Path.GetFileNameWithoutExtension(snippet), folder, corpus);
            object? counted = function.Invoke(null, new object[] { target });
            long count = counted is Task<long> task ? task.Result : Convert.ToInt64(counted);
            Check.That(count == corpus.Truth[proof], $"{name}: {proof} of {corpus.Name}", count);
        }
    }

    private static string Target(string snippet, TestFolder folder, Corpus corpus)
    {
        switch (snippet)
        {
            case "GZipStream":
                return folder.Write("file", corpus.GZip());
            case "BrotliStream":
                return folder.Write("file", corpus.Brotli());
            case "Directory.EnumerateFiles":
            case "Parallel.ForEach":
                return Tree(folder.Write("outside", corpus.Content));
            default:
                return folder.Write("file", corpus.Content);
        }
    }

    /// <summary>A folder with a copy of the file, and with what is not read.</summary>
    private static string Tree(string file)
    {
        const string Script = "mkdir -p \"$1.tree/nested/.deep\" && cd \"$1.tree\" && cp \"$1\" nested/.deep/copy"
            + " && printf x >other && ln -s \"$1\" link && ln -s .. nested/loop && mkfifo pipe";
        var command = new ProcessStartInfo("/bin/sh") { ArgumentList = { "-c", Script, "sh", file } };
        using Process made = Process.Start(command)!;
        made.WaitForExit();
        Check.That(made.ExitCode == 0, "a folder is made", made.ExitCode);
        return file + ".tree";
    }
}
