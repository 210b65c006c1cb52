/// <summary>
/// The ways of visiting the bytes that a method has for one work, by their names, best first. The
/// visits themselves are in <see cref="Scan"/>.
/// </summary>
internal sealed class WorkScans
{
    internal WorkScans(Work work, params string[] scans)
    {
        Work = work;
        Scans = scans;
    }

    internal Work Work { get; }

    internal string[] Scans { get; }
}
