using System;

/// <summary>
/// Adds up several files and proves each of them (PROTOCOL.md); and reads those of a list, one
/// after the other, as a method reads one.
/// </summary>
internal sealed class FilesTally
{
    /// <summary>The numbers of a file are taken modulo this in its proof.</summary>
    private const long Modulus = 65521;

    private readonly Tally all;
    private long files;
    private uint products;

    internal FilesTally(Request request)
    {
        all = new Tally(request);
    }

    internal Answer Answer => all.Answer.With("files", files).With("products", products);

    /// <summary>Reads the file of a request, or the files of its list.</summary>
    internal static Answer Read(Request request, Action<string, Request, Tally> visit)
    {
        if (request.Files == null)
        {
            var tally = new Tally(request);
            visit(request.Path, request, tally);
            return tally.Answer;
        }
        var found = new FilesTally(request);
        foreach (string path in request.Files)
        {
            found.ReadFile(path, request, visit);
        }
        return found.Answer;
    }

    /// <summary>Reads one file; its failure has its path.</summary>
    internal void ReadFile(string path, Request request, Action<string, Request, Tally> visit)
    {
        var tally = new Tally(request);
        try
        {
            visit(path, request, tally);
        }
        catch (Exception cause) when (!(cause is Refusal))
        {
            throw new FileFailure(path, cause);
        }
        all.Add(tally);
        files++;
        unchecked
        {
            products += (uint)((tally.Bytes % Modulus + 1) * (tally.Value % Modulus + 1));
        }
    }

    /// <summary>Adds what another one added up.</summary>
    internal void Merge(FilesTally other)
    {
        all.Add(other.all);
        files += other.files;
        unchecked
        {
            products += other.products;
        }
    }
}
