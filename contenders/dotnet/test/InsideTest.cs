/// <summary>Tests the contender from inside its process, where a session is short.</summary>
internal static class InsideTest
{
    private static int Main()
    {
        DecoderEndTest.Run();
        CountsTest.Run();
        return Check.Finish();
    }
}
