!> A program whose default integers have 64 bits, as the compiler's option lets it be. docs/fortran.md
!> says what it names with a kind.
module wide_bodies
    use polytile
    use, intrinsic :: iso_c_binding
    implicit none
contains
    subroutine add_indices(threads, views, user) bind(C)
        type(polytile_domain), intent(in) :: threads
        type(polytile_view), intent(in) :: views(*)
        type(c_ptr), value :: user
        real(c_double), pointer :: A(:, :)
        integer :: i, j
        if (c_associated(user)) return
        call polytile_view_get(views(1), A)
        do j = polytile_first(threads, 2), polytile_last(threads, 2)
            do i = polytile_first(threads, 1), polytile_last(threads, 1)
                A(i, j) = A(i, j) + 10 * i + j
            end do
        end do
    end subroutine
end module

program wide
    use wide_bodies
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    implicit none
    real(real64), target :: a(0:6, 5) = 0
    type(polytile_context) :: ctx
    type(polytile_queue) :: queue
    type(polytile_kernel) :: add, scale
    type(polytile_array) :: array, other
    integer(int32) :: stat
    integer :: i, j

    if (kind(i) /= int64) error stop 'default integers have not 64 bits'
    call polytile_context_create(ctx, stat)
    call polytile_queue_create(ctx, 'host(memory=1MiB)', queue)
    call polytile_kernel_create(ctx, 'add[i, j]: inout A[i, j]', add_indices, add)
    call polytile_kernel_compile(ctx, 'scale[i, j](i64 f): in A[i, j]; out B[i, j]', 'B(i, j) = f * A(i, j);', scale)
    call polytile_array_wrap(ctx, 'A', a, array, lower=lbound(a), stat=stat)
    call polytile_queue_create_array(queue, 'B', POLYTILE_F64, [6, 5], other)
    call polytile_queue_attach(queue, [array])
    call polytile_queue_launch(queue, add, polytile_bounds([0, 1], [6, 5]), [array])
    call polytile_queue_launch(queue, scale, polytile_extents([6, 5]), [array, other], [polytile_set('f', 3)])
    call polytile_queue_launch(queue, scale, polytile_extents([6, 5]), [other, array], [polytile_set('f', 2)])
    call polytile_queue_detach(queue, [array], stat)
    if (stat /= POLYTILE_OK) error stop 'the queue failed'
    if (any(nint(a(1:, :)) /= reshape([((60 * i + 6 * j, i = 1, 6), j = 1, 5)], [6, 5]))) error stop 'a is wrong'
    if (any(nint(a(0, :)) /= [1, 2, 3, 4, 5])) error stop 'row 0 of a is wrong'
    call polytile_context_destroy(ctx)
    print '(a)', 'right'
end program
