using System;
using System.IO;

/// <summary>
/// The methods that decode the whole file into one string and visit its characters. It holds less
/// than 2^30 of them.
/// </summary>
internal static class TextMethods
{
    internal static readonly Method[] All =
    {
        Of("File.ReadAllText", "File.ReadAllText: the whole file in one string", File.ReadAllText),
        Of("StreamReader.ReadToEnd", "ReadToEnd of a StreamReader: the whole file in one string", ReadToEnd),
    };

    private static Method Of(string name, string about, Func<string, string> read) =>
        Method.OfNewlines(name, about, Scan.OfNewlines,
            request => Answer.OfNewlines(Scan.Newlines(read(request.Path), request.Scan)));

    private static string ReadToEnd(string path)
    {
        using var reader = new StreamReader(path);
        return reader.ReadToEnd();
    }
}
