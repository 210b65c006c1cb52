using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.Json;

/// <summary>What the contender says in one session, which runs in this process.</summary>
internal sealed class Talk
{
    internal const string TwoTurns = "go 0 1\ngo 1 2\n";

    private Talk(int code, string[] lines)
    {
        Code = code;
        Lines = lines;
        Messages = lines.Select(line => JsonDocument.Parse(line).RootElement).ToArray();
    }

    internal int Code { get; }

    internal string[] Lines { get; }

    internal IReadOnlyList<JsonElement> Messages { get; }

    internal IEnumerable<JsonElement> Samples => Messages.Where(message => Word(message) == "sample");

    internal static Talk Of(string turns, params string[] words)
    {
        var said = new MemoryStream();
        int code = Reader.Run(words, new MemoryStream(Encoding.ASCII.GetBytes(turns)), said);
        string text = Encoding.UTF8.GetString(said.ToArray());
        return new Talk(code, text.Split('\n', StringSplitOptions.RemoveEmptyEntries));
    }

    /// <summary>The session of two turns of `read`.</summary>
    internal static Talk Read(params string[] words) => Of(TwoTurns, words.Prepend("read").ToArray());

    /// <summary>The reason of the last message, if it says that something failed.</summary>
    internal string Failure
    {
        get
        {
            JsonElement last = Messages[Messages.Count - 1];
            return Word(last) == "failed" ? last.GetProperty("reason").GetString() ?? "" : "";
        }
    }

    internal static string Word(JsonElement message) => message.GetProperty("say").GetString() ?? "";
}
