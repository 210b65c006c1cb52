using System;
using System.IO;
using System.Text;

/// <summary>
/// The contender dotnet of readlab: reads files with the classes of .NET and measures each reading.
///
/// This class implements the three ways of being started (PROTOCOL.md) and does not read files;
/// <see cref="Session"/> takes the turns, <see cref="Methods"/> lists the methods.
/// </summary>
internal static class Reader
{
    private const string Usage = "usage: reader hello | methods | read METHOD SCAN WORK TARGET [name=value ...]";
    private const int ExitFailed = 1;
    private const int ExitUsage = 2;
    private const int ReadWords = 5;

    private static int Main(string[] words)
    {
        // Console.In and Console.Out would set up a terminal.
        using Stream turns = Console.OpenStandardInput();
        using Stream messages = Console.OpenStandardOutput();
        return Run(words, turns, messages);
    }

    /// <summary>Runs one whole session; returns the exit code.</summary>
    internal static int Run(string[] words, Stream turns, Stream messages)
    {
        using var say = new StreamWriter(messages, new UTF8Encoding(false)) { NewLine = "\n" };
        string verb = words.Length == 0 ? "" : words[0];
        if (verb == "read" && words.Length >= ReadWords)
        {
            return Read(words, turns, say);
        }
        if (words.Length != 1 || verb != "hello" && verb != "methods")
        {
            Console.Error.WriteLine(Usage);
            return ExitUsage;
        }
        say.WriteLine(Say.Hello());
        foreach (Method method in verb == "methods" ? Methods.All : Array.Empty<Method>())
        {
            say.WriteLine(Say.Method(method));
        }
        return 0;
    }

    private static int Read(string[] words, Stream turns, TextWriter say)
    {
        say.WriteLine(Say.Hello());
        try
        {
            new Session(Request.Parse(words), say).Serve(new StreamReader(turns, Encoding.ASCII));
            return 0;
        }
        catch (Refusal refusal)
        {
            say.WriteLine(refusal.Line);
            return ExitFailed;
        }
    }
}
