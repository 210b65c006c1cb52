using System;

/// <summary>
/// A method of reading: its name, as in a trial's name, one sentence on the calls that read the
/// bytes, what it can do, and the reading itself, from open to close.
/// </summary>
internal sealed class Method
{
    /// <summary>The values of <see cref="Reads"/>.</summary>
    internal const string File = "file";
    internal const string Folder = "folder";

    /// <summary>The scan of a method without a choice.</summary>
    internal const string NoScan = "-";
    /// <summary>One call for each byte.</summary>
    internal const string ByteByByte = "read";

    private Func<string?> lack = () => null;

    private Method(string name, string about, WorkScans[] scans, Func<Request, Answer> read)
    {
        Name = name;
        About = about;
        Scans = scans;
        Read = read;
    }

    internal string Name { get; }

    internal string About { get; }

    /// <summary>For each work it can do, the ways of visiting the bytes, best first.</summary>
    internal WorkScans[] Scans { get; }

    /// <summary>Reads the target of a request once and keeps no byte of the file.</summary>
    internal Func<Request, Answer> Read { get; }

    internal Param[] Params { get; private set; } = Array.Empty<Param>();

    /// <summary>What it can read: a file or a folder.</summary>
    internal string Reads { get; private set; } = File;

    /// <summary>Whether it reads a part of a file, too.</summary>
    internal bool Parts { get; private set; }

    /// <summary>Whether it reads the files of a list, too.</summary>
    internal bool Lists { get; private set; }

    /// <summary>The archive that it decodes; none for a method that reads plain bytes.</summary>
    internal string? Decodes { get; private set; }

    /// <summary>Why it does not work in this runtime, if so.</summary>
    internal string? Lack => lack();

    /// <summary>A method that makes lines; they are its answer about newlines, too.</summary>
    internal static Method OfLines(string name, string about, Func<Request, long> count)
    {
        WorkScans[] scans = { new WorkScans(Work.Newlines, NoScan), new WorkScans(Work.Lines, NoScan) };
        return new Method(name, about, scans, request => Answer.OfLines(count(request)));
    }

    /// <summary>A method that only counts newlines.</summary>
    internal static Method OfNewlines(string name, string about, string[] scans, Func<Request, Answer> read) =>
        new Method(name, about, new[] { new WorkScans(Work.Newlines, scans) }, read);

    /// <summary>A method that passes the bytes of a file to a tally, many at a time.</summary>
    internal static Method OfBytes(string name, string about, Action<string, Request, Tally> visit) =>
        OfAll(name, about, request => FilesTally.Read(request, visit));

    /// <summary>A method that passes the bytes of every file below a folder to a tally.</summary>
    internal static Method OfFolder(string name, string about, Func<Request, Answer> read)
    {
        Method method = OfAll(name, about, read);
        method.Reads = Folder;
        return method;
    }

    /// <summary>The scans for a work.</summary>
    internal string[] ScansFor(Work work) =>
        Array.Find(Scans, one => one.Work == work)?.Scans
            ?? throw new Refusal($"{Name} does not do the work '{work.Word()}'");

    /// <summary>With these parameters.</summary>
    internal Method With(params Param[] parameters)
    {
        Params = parameters;
        return this;
    }

    /// <summary>For parts of a file, too.</summary>
    internal Method ReadingParts()
    {
        Parts = true;
        return this;
    }

    /// <summary>For the files of a list, too.</summary>
    internal Method ReadingLists()
    {
        Lists = true;
        return this;
    }

    /// <summary>For the content of an archive.</summary>
    internal Method Decoding(string archive)
    {
        Decodes = archive;
        return this;
    }

    /// <summary>Unavailable if there is a reason, which is looked for when it is asked for.</summary>
    internal Method Unless(Func<string?> reason)
    {
        lack = reason;
        return this;
    }

    private static Method OfAll(string name, string about, Func<Request, Answer> read)
    {
        WorkScans[] scans =
        {
            new WorkScans(Work.Newlines, Scan.OfNewlines),
            new WorkScans(Work.Sum, Scan.OfSum),
            new WorkScans(Work.Discard, NoScan),
        };
        return new Method(name, about, scans, read);
    }
}
